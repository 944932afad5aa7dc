/* Shifts the realtime clock by the number of seconds in the first eight bytes of a file. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile long *ahead;

__attribute__((constructor)) static void begin(void) {
    int file = open(getenv("CLOCK_AHEAD"), O_RDONLY);
    void *page = file < 0 ? MAP_FAILED : mmap(NULL, sizeof *ahead, PROT_READ, MAP_SHARED, file, 0);
    if (page == MAP_FAILED)
        abort();
    ahead = page;
    close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    int result = (int)syscall(SYS_clock_gettime, clock, now);
    if (result == 0 && clock == CLOCK_REALTIME && ahead)
        now->tv_sec += *ahead;
    return result;
}
