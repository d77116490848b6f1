// expect: violated memory "leads to no int"
// The end of an array inside of a structure is not the next member.
struct record { int numbers[2]; int last; } r = {{1, 2}, 3};
int main(void) {
    int sum = 0;
    for (int *p = r.numbers; p <= r.numbers + 2; p++) sum += *p;
    return sum;
}
