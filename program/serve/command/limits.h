/* program/serve/command/limits.h - how much a command may use: memory, processor, files, processes.
 *
 *   "limits": { "memory": "512MB", "cpu": "10s", "file_size": "100MB", "open_files": 256, "processes": 32 }
 *
 * Two ways of keeping them. The kernel keeps those of one process (setrlimit, before it is started, handed
 * down to all that it starts): memory, processor time, size of a file, open files; core files are never
 * written. We keep those of a command and all that it has started together (family.h, process.c): memory
 * and the number of processes, looked at five times a second.
 *
 * Memory is RLIMIT_DATA, not RLIMIT_AS: address space is what V8, Java and Chromium reserve by the gigabyte and
 * never use. RLIMIT_DATA counts what can be written to and is a process's own (Linux 4.7 and later). Not
 * RLIMIT_NPROC: it counts all processes of the user, whoever started them, and nothing for root.
 */
#ifndef PROGRAM_SERVE_COMMAND_LIMITS_H
#define PROGRAM_SERVE_COMMAND_LIMITS_H

#include <cleat/json.h>

struct draft;

enum { LIMITS_PROCESSES_MAX = 4096 };

/* 0: none. */
struct limits {
	uint64_t memory;     /* bytes; each process, and all of them together */
	uint64_t cpu_s;      /* of each process */
	uint64_t file_size;  /* bytes; of each file that it writes */
	unsigned open_files; /* of each process */
	unsigned processes;  /* all of them together, without their threads */
};

/* "limits" of the node, member by member; then of "defaults"; then our own. What is wrong with them is a
 * problem. */
struct limits limits_conf(struct draft *b, const cleat_json *node);

/* In the child between fork and exec: async-signal-safe. What is lower already stays so. 0 or an errno. */
int limits_enter(const struct limits *l);

#endif
