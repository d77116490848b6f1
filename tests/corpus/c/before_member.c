// expect: violated memory "leaves the array"
struct pair { int left, right; } pairs[2];
int main(void) {
    int *p = &pairs[1].left;
    p--;
    *p = 1;
    return 0;
}
