// Every verb of `cleat` with a server of the TypeScript SDK v2 (lib/matrix.mjs), in both eras.

import { matrix } from './lib/matrix.mjs';
import { NodeServer, local } from './lib/node_server.mjs';
import { run } from './lib/tap.mjs';

matrix({
	name: 'v2',
	is: ['fixture', '1.2.3'],
	eras: ['legacy', 'modern'],
	argv: local('server_v2.mjs', 'stdio'),
	http: () => NodeServer.start(local('server_v2.mjs', 'http')),
	tool: ['echo', 'text=grüße "x"'],
	says: 'grüße "x"',
	line: /^headers\(region\?: string, level\?: integer, dry\?: boolean\)$/m,
	structured: { call: ['add', 'a=2', 'b=40'], is: { sum: 42 } },
	fails: { call: ['fail'], says: /the tool failed:\nit failed\n$/ },
	asks: { modern: true, call: ['ask_form'], accept: ['--answer', 'name=Ann'], accepted: /^\{"action":"accept","content":\{"name":"Ann","age":30\}\}\n$/, declined: /^\{"action":"decline"\}\n$/ },
	text: ['test://item/7', /^item 7$/],
	blob: ['test://blob', /^\0\u0001\u0002\u00ff$/],
	resources: 3, templates: ['test://item/{id}'],
	prompts: ['greet'],
	prompt: { get: ['greet', 'name=Ann'], is: 'user:\nHello Ann\n' },
	complete: [[['greet', 'name=An'], ['Ann', 'Anna']], [['greet', 'name=B'], ['Bob']]],
	show: ['add', 'greet', 'test://text', 'test://item/{id}'],
	rules: ['argument-description', 'description'],
	// Over HTTP older revisions have no session with this server, so there is nothing to hear.
	touches: { uri: 'test://watched', call: ['touch'], when: (link, era) => link === 'http' && era === 'modern' }
});

await run();
