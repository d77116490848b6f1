// expect: violated memory "life has ended"
int main(void) {
    int *p = 0;
    int n = 0;
    while (1) {
        int x = n;
        if (n == 0) { p = &x; goto out; }
        break;
    }
out:
    return *p;
}
