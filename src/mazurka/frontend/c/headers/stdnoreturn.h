#ifndef __MAZURKA_STDNORETURN
#define __MAZURKA_STDNORETURN
#define noreturn _Noreturn
#endif
