/* The sleeping barber: customers who find all chairs taken go away, and come back. */
#ifndef CUSTOMERS
#define CUSTOMERS 4
#endif
#ifndef CHAIRS
#define CHAIRS 2
#endif

byte waiting, chair;
byte mutex = 1;
byte customers, barber_ready, done;

#define acquire(s) atomic { s > 0 -> s-- }

active proctype barber() {
  do
  :: acquire(customers);
     acquire(mutex);
     waiting--;
     barber_ready++;
     mutex++;
     acquire(done)
  od
}

active [CUSTOMERS] proctype customer() {
  do
  :: acquire(mutex);
     if
     :: waiting < CHAIRS ->
        waiting++;
        customers++;
        mutex++;
        acquire(barber_ready);
        chair++;
        assert(chair == 1);
        chair--;
        done++
     :: else -> mutex++
     fi
  od
}
