# Logistic growth, measured twice with an error. Reads parameters.txt, writes result.txt.
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
BEGIN {
    while ((getline line < "parameters.txt") > 0) {
        split(line, field, " ")
        value[field[1]] = field[2]
    }
    srand(value["seed"])
    print measured(5), measured(20) > "result.txt"
}
function measured(time) {
    return value["capacity"] / (1 + (value["capacity"] / 8 - 1) * exp(-value["rate"] * time)) * exp(0.1 * normal())
}
