// expect: violated memory "leaves the array"
// What lies before an array inside of a structure is another member.
struct record { int first; int numbers[2]; } records[2];
int main(void) {
    int *p = records[1].numbers;
    p--;
    *p = 1;
    return 0;
}
