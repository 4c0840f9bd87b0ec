// asks.mjs - what the server asks of a client: of its user, its model, its roots. The same cases in
// both eras; the SDK answers requests of the server in the old one, results that ask in the new one.

import assert from 'node:assert/strict';
import { refused, text } from './cases.mjs';
import { test } from './tap.mjs';

export function askCases(sdk) {
	const modern = sdk.era === 'modern';
	const it = (name, run) => test(`${sdk.name}: ${name}`, run);

	// ---- asking the user ----------------------------------------------------------------------

	const form = { elicitation: { form: {} } };

	it('a form is shown with its schema, and its answer reaches the tool', async t => {
		const asked = [];
		const s = await t.open(sdk, {
			capabilities: form,
			answers: {
				'elicitation/create': params => {
					asked.push(params);
					return {
						action: 'accept',
						content: { name: 'Ann', mail: 'ann@example.com', age: 30, color: 'green', member: false }
					};
				}
			}
		});
		assert.equal(text(await s.call('ask_profile')), 'Ann <ann@example.com>, 30, green');
		assert.equal(asked.length, 1);
		assert.equal(asked[0].message, 'Who are you?');
		const { properties, required } = asked[0].requestedSchema;
		assert.deepEqual(required, ['name', 'mail', 'age']);
		assert.equal(properties.mail.format, 'email');
		assert.deepEqual([properties.age.minimum, properties.age.maximum], [0, 150]);
	});

	it('declining a form is not closing it: the tool can tell', async t => {
		let action;
		const s = await t.open(sdk, {
			capabilities: form,
			answers: { 'elicitation/create': () => ({ action }) }
		});
		action = 'decline';
		assert.match(text(await s.call('test_elicitation', { message: 'Name?' })), /action=decline/);
		action = 'cancel';
		assert.match(text(await s.call('test_elicitation', { message: 'Name?' })), /action=cancel/);
	});

	it('a tool that hands a refusal on answers with isError', async t => {
		let action;
		const s = await t.open(sdk, {
			capabilities: form,
			answers: { 'elicitation/create': () => ({ action }) }
		});
		for (action of ['decline', 'cancel']) {
			const result = await s.call('ask_profile');
			assert.equal(result.isError, true);
			assert.match(text(result), action === 'decline' ? /declined/ : /closed/);
		}
	});

	it('the SDK fills in the defaults of a form', async t => {
		const s = await t.open(sdk, {
			capabilities: { elicitation: { form: { applyDefaults: true } } },
			answers: { 'elicitation/create': () => ({ action: 'accept', content: {} }) }
		});
		const said = text(await s.call('test_elicitation_sep1034_defaults'));
		assert.deepEqual(JSON.parse(said.slice(said.indexOf('{'))), {
			name: 'John Doe',
			age: 30,
			score: 95.5,
			status: 'active',
			verified: true
		});
	});

	it('choices of every kind are asked for', async t => {
		const content = {
			untitledSingle: 'option2',
			titledSingle: 'value1',
			legacyEnum: 'opt3',
			untitledMulti: ['option1', 'option3'],
			titledMulti: ['value2']
		};
		const s = await t.open(sdk, {
			capabilities: form,
			answers: { 'elicitation/create': () => ({ action: 'accept', content }) }
		});
		const said = text(await s.call('test_elicitation_sep1330_enums'));
		assert.deepEqual(JSON.parse(said.slice(said.indexOf('{'))), content);
	});

	it('an answer that does not fit the form is not taken', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			// The SDK lets this through or not; the tool must not see it either way.
			answers: {
				'elicitation/create': () => ({
					action: 'accept',
					content: { name: 'Ann', mail: 'ann@example.com', age: 400 }
				})
			}
		});
		const said = await s.call('ask_profile').then(r => [r.isError, text(r)], error => [true, error.message]);
		assert.equal(said[0], true);
		assert.doesNotMatch(said[1], /Ann </);
		assert.equal(text(await s.call('echo', { text: 'alive' })), 'alive');
	});

	it('a URL is shown to the user', async t => {
		const asked = [];
		const s = await t.open(sdk, {
			capabilities: { elicitation: { url: {} } },
			answers: {
				'elicitation/create': params => {
					asked.push(params);
					return { action: 'accept' };
				}
			}
		});
		assert.equal(text(await s.call('ask_url')), 'logged in');
		assert.equal(asked[0].mode, 'url');
		assert.equal(asked[0].url, 'https://example.com/login?x=1');
		assert.equal(asked[0].message, 'Please log in');
	});

	it('a URL that the user does not want to open is a refusal', async t => {
		let action;
		const s = await t.open(sdk, {
			capabilities: { elicitation: { url: {} } },
			answers: { 'elicitation/create': () => ({ action }) }
		});
		for (action of ['decline', 'cancel']) {
			const result = await s.call('ask_url');
			assert.equal(result.isError, true);
			assert.match(text(result), action === 'decline' ? /declined/ : /closed/);
		}
	});

	it('a client that cannot show URLs is not asked to', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			answers: { 'elicitation/create': () => assert.fail('asked') }
		});
		if (modern) await refused(s.call('ask_url'), -32021, /elicitation/);
		else assert.equal((await s.call('ask_url')).isError, true);
	});

	it('two questions one after the other are both answered', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			answers: {
				'elicitation/create': ({ requestedSchema }) => ({
					action: 'accept',
					content: 'name' in requestedSchema.properties ? { name: 'Ann' } : { color: 'red' }
				})
			}
		});
		assert.equal(text(await s.call('test_input_required_result_multi_round')), 'Ann likes red');
	});

	it('three questions at once are all answered', async t => {
		const s = await t.open(sdk, {
			capabilities: { ...form, sampling: {}, roots: {} },
			answers: {
				'elicitation/create': () => ({ action: 'accept', content: { name: 'Ann' } }),
				'sampling/createMessage': () => ({
					model: 'm',
					role: 'assistant',
					content: { type: 'text', text: 'Paris' }
				}),
				'roots/list': () => ({ roots: [{ uri: 'file:///a' }, { uri: 'file:///b', name: 'B' }] })
			}
		});
		assert.equal(text(await s.call('test_input_required_result_multiple_inputs')), 'Ann, Paris, 2 roots');
	});

	it('state travels from one run of a handler to the next', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			answers: { 'elicitation/create': () => ({ action: 'accept', content: { ok: true } }) }
		});
		assert.equal(text(await s.call('test_input_required_result_request_state')), 'state-ok');
	});

	it('prompts and resources ask, too', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			answers: {
				'elicitation/create': ({ requestedSchema }) => ({
					action: 'accept',
					content: 'word' in requestedSchema.properties ? { word: 'please' } : { context: 'C' }
				})
			}
		});
		const got = await s.client.getPrompt({ name: 'test_input_required_result_prompt' });
		assert.equal(got.messages[0].content.text, 'Context: C');
		const { contents } = await s.client.readResource({ uri: 'ask://word' });
		assert.equal(contents[0].text, 'The word is please');
	});

	it('100 calls that ask, at once, each get the answer to their own question', async t => {
		const s = await t.open(sdk, {
			capabilities: form,
			answers: {
				'elicitation/create': ({ message }) => ({
					action: 'accept',
					content: { username: message, email: `${message}@example.com` }
				})
			}
		});
		const names = Array.from({ length: 100 }, (_, i) => `user${i}`);
		const results = await Promise.all(names.map(message => s.call('test_elicitation', { message })));
		results.forEach((r, i) => assert.match(text(r), new RegExp(`"username":"user${i}"`)));
	});

	// ---- asking the model ----------------------------------------------------------------------

	it("the client's model is asked, with every option", async t => {
		const asked = [];
		const s = await t.open(sdk, {
			capabilities: { sampling: {} },
			answers: {
				'sampling/createMessage': params => {
					asked.push(params);
					return {
						model: 'small-1',
						role: 'assistant',
						stopReason: 'endTurn',
						content: { type: 'text', text: 'Hi there' }
					};
				}
			}
		});
		assert.equal(text(await s.call('ask_model')), 'Hi there by small-1');
		const [{ _meta, ...params }] = asked;
		assert.deepEqual(params, {
			messages: [
				{ role: 'user', content: { type: 'text', text: 'Hi' } },
				{ role: 'assistant', content: { type: 'text', text: 'Hello' } }
			],
			systemPrompt: 'Be brief.',
			maxTokens: 50,
			temperature: 0.25,
			modelPreferences: {
				hints: [{ name: 'small' }],
				costPriority: 1,
				speedPriority: 0.5,
				intelligencePriority: 0
			},
			stopSequences: ['END'],
			metadata: { trace: 7 }
		});
	});

	it('the model uses a tool, gets its result, and concludes', async t => {
		const asked = [];
		const s = await t.open(sdk, {
			capabilities: { sampling: { tools: {} } },
			answers: {
				'sampling/createMessage': params => {
					asked.push(params);
					const last = [params.messages.at(-1).content].flat()[0];
					return {
						model: 'm',
						role: 'assistant',
						stopReason: last.type === 'tool_result' ? 'endTurn' : 'toolUse',
						content:
							last.type === 'tool_result'
								? { type: 'text', text: `It is ${last.content[0].text}.` }
								: [{ type: 'tool_use', id: 'use-1', name: 'double', input: { n: 21 } }]
					};
				}
			}
		});
		assert.equal(text(await s.call('model_with_tools')), 'It is 42.');
		assert.deepEqual(asked[0].toolChoice, { mode: 'required' });
		assert.equal(asked[0].tools[0].name, 'double');
		assert.equal([asked[1].messages.at(-1).content].flat()[0].toolUseId, 'use-1');
	});

	it('a client without tools in sampling is not asked with them', async t => {
		const s = await t.open(sdk, {
			capabilities: { sampling: {} },
			answers: { 'sampling/createMessage': () => assert.fail('asked') }
		});
		if (modern) await refused(s.call('ask_tools'), -32021, /tools/);
		else assert.equal((await s.call('ask_tools')).isError, true);
	});

	it('a client without sampling is not asked', async t => {
		const s = await t.open(sdk);
		if (modern) await refused(s.call('test_sampling', { prompt: 'x' }), -32021, /sampling/);
		else assert.equal((await s.call('test_sampling', { prompt: 'x' })).isError, true);
	});

	// ---- roots -----------------------------------------------------------------------------------

	it("the client's roots reach the tool", async t => {
		const roots = [{ uri: 'file:///home/a', name: 'A' }, { uri: 'file:///tmp' }];
		const s = await t.open(sdk, { capabilities: { roots: {} }, answers: { 'roots/list': () => ({ roots }) } });
		assert.deepEqual(JSON.parse(text(await s.call('roots'))), roots);
	});
}
