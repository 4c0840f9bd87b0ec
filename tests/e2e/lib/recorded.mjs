// recorded.mjs - the clients of v1.mjs and v2.mjs with `cleat record` between them and the server: what works
// without it has to work with it.

import fs from 'node:fs';
import path from 'node:path';
import { cleat, heard, place, start } from './cli.mjs';
import { HttpServer } from './http.mjs';

/** `cleat record --http` before a server; its file is `file`. */
export async function recorder(t, url, ...options) {
	const cwd = place();
	const child = start(['record', '--http', '127.0.0.1:0', ...options, 's.ndjson', url], { cwd, input: null });
	const ended = async () => {
		child.kill('SIGTERM');
		const { code, stderr } = await child.ended;
		return code === 143 && !/Sanitizer/.test(stderr) ? [] : [`the recorder ended with ${code}: ${stderr}`];
	};
	t.use({ end: ended });
	const at = /http:\S+/.exec(await heard(child, /http:\S+/, 'stderr'))[0];
	return { url: at, ended, child, file: path.join(cwd, 's.ndjson') };
}

export const messages = file => fs.readFileSync(file, 'utf8').trim().split('\n').map(line => JSON.parse(line));

/** An SDK over HTTP, behind the recorder. */
export const overHttp = sdk => ({
	...sdk,
	name: `recorded, ${sdk.name}`,
	open: async ({ server, ...options }, opened) => {
		if (!server) opened((server = await HttpServer.start(options)));
		const { url } = await recorder({ use: opened }, server.url);
		return sdk.open({ ...options, server, url }, opened);
	}
});

/** An SDK over pipes, behind the recorder, before a server on HTTP. */
export const bridged = (sdk, name) => ({
	...sdk,
	name: name ?? `bridged, ${sdk.name}`,
	open: async ({ program, env, args, ...options }, opened) => {
		const server = await HttpServer.start({ program, env, args });
		opened(server);
		return sdk.open({ ...options, program: path.relative(path.join(cleat, '..'), cleat), args: ['record', '-q', path.join(place(), 's.ndjson'), server.url] }, opened);
	}
});
