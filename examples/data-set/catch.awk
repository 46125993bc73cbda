# The lengths in centimetres of about sixty fish: a share `older` of them is `longer` than the others by so much.
function normal() { return sqrt(-2 * log(1 - rand())) * cos(6.283185307179586 * rand()) }
BEGIN {
    srand(seed)
    fish = 55 + int(11 * rand())
    for (i = 1; i <= fish; i++) print 20 + 1.5 * normal() + (rand() < older ? longer : 0)
}
