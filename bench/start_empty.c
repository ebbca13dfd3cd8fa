/* A program that does nothing and has nothing but the C library: what starting a process costs anyway. */
#include <unistd.h>

int main(void) { _exit(0); }
