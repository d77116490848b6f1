// expect: violated memory "leads to no int"
struct record { int numbers[2]; int last; };
struct view { int length; int *end; };
static struct record record;
int main(void) {
    struct view view = { 2, &record.numbers[2] };
    *view.end = 1;
    return record.last;
}
