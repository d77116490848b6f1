#ifndef __MAZURKA_STDBOOL
#define __MAZURKA_STDBOOL
#define bool _Bool
#define true 1
#define false 0
#endif
