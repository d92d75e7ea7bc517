/* for check.h: nothing of it runs on Windows */
