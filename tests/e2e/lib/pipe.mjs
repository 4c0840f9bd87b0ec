// pipe.mjs - a named pipe, through which a call that waits in a server is told to go on, also when the
// server listens to nobody any more.

import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PATIENCE } from './tap.mjs';

export class Pipe {
	#directory = mkdtempSync(join(tmpdir(), 'cleat-pipe-'));
	#fd;
	path = join(this.#directory, 'pipe');

	constructor() {
		execFileSync('mkfifo', [this.path]);
	}

	/** Waits until somebody reads. */
	async open() {
		for (const began = performance.now(); ; await new Promise(setImmediate))
			try {
				this.#fd = openSync(this.path, constants.O_WRONLY | constants.O_NONBLOCK);
				return;
			} catch (error) {
				if (error.code !== 'ENXIO' || performance.now() - began > PATIENCE) throw error;
			}
	}

	write(text) {
		writeSync(this.#fd, text);
	}

	async end() {
		if (this.#fd !== undefined) closeSync(this.#fd);
		rmSync(this.#directory, { recursive: true });
		return [];
	}
}
