# Fifty steps of a random walk; prints where it ends and the logarithm of the steps' spread.
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
BEGIN {
    srand(seed)
    for (step = 1; step <= 50; step++) {
        move = drift + noise * normal()
        end += move
        squares += move * move
    }
    mean = end / 50
    print end, 0.5 * log(squares / 50 - mean * mean + 1e-12)
}
