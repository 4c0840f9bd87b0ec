// ground.mjs - the servers that the security cases share, and all that they answered.
//
// One with the default configuration, one with tokens of two users, one that a web page may use. They
// run from the first case to the last, so what one attack leaves behind the next one meets.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpServer } from './http.mjs';
import { request, Socket } from './raw.mjs';
import { test } from './tap.mjs';

export const TOKENS = { alice: 'alice-s3cret-0123456789abcdef', bob: 'bob-t0ken-fedcba9876543210' };
export const PAGE = 'https://app.example';
export const bearer = name => ({ Authorization: `Bearer ${TOKENS[name]}` });

export class Ground {
	answers = []; // every answer that a case got, as it came
	directory = mkdtempSync(join(tmpdir(), 'cleat-http-'));

	async start() {
		const tokens = this.file(
			'tokens',
			Object.entries(TOKENS)
				.map(pair => pair.join(' '))
				.join('\n') + '\n'
		);
		this.server = await HttpServer.start();
		this.guarded = await HttpServer.start({ args: ['--token-file', tokens] });
		this.web = await HttpServer.start({
			args: ['--token-file', tokens, '--allow-origin', PAGE, '--allow-host', 'mcp.example']
		});
		return this;
	}

	file(name, text) {
		const path = join(this.directory, name);
		writeFileSync(path, text, { mode: 0o600 });
		return path;
	}

	/** One request on a connection of its own; its answer. */
	async ask(bytes, { server = this.server, where = server.port, head = false } = {}) {
		const socket = await Socket.open(where);
		try {
			await socket.write(bytes);
			const answer = await socket.answer({ head });
			this.answers.push(answer.raw);
			return answer;
		} finally {
			socket.destroy();
		}
	}

	/** The same, built: method, path, headers, body. */
	send(method, path, headers, { body, ...options } = {}) {
		return this.ask(request(method, path, headers, body), { head: method === 'HEAD', ...options });
	}

	/** Sends it on a connection of its own and checks that the answer has this status, is the only one,
	 * and that the connection is closed behind it. */
	async refuses(bytes, status, what, server = this.server) {
		const socket = await Socket.open(server.port);
		await socket.write(bytes);
		const answer = await socket.answer();
		this.answers.push(answer.raw);
		assert.equal(answer.status, status, `${what}: ${answer.body}`);
		await socket.end();
		assert.equal(socket.bytes, '', `${what}: something came behind the answer`);
		socket.destroy();
	}

	/** Cases about all answers, and the end. The last of the file. */
	lastCases() {
		for (const [what, found] of [
			['sends the client elsewhere', /^location:/im],
			['allows every origin', /^access-control-allow-origin: *\*/im],
			['has a token in it', new RegExp(Object.values(TOKENS).join('|'))],
			['says what serves', /^(server|x-powered-by):/im]
		])
			test(`no answer at all ${what}`, async () => {
				assert.ok(this.answers.length > 100);
				assert.deepEqual(this.answers.filter(a => found.test(a)), []);
			});
		test('after all that the servers still serve, and end with status 0 and without a word', async () => {
			const problems = [];
			for (const server of [this.server, this.guarded, this.web]) {
				assert.equal((await this.send('GET', '/healthz', {}, { server })).body, 'ok\n');
				problems.push(...(await server.end()));
			}
			rmSync(this.directory, { recursive: true });
			assert.deepEqual(problems, []);
		});
	}
}
