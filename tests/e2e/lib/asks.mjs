// asks.mjs - what the server asks of a client: of its user, its model, its roots. The same cases in
// both eras; the SDK answers requests of the server in the old one, results that ask in the new one.

import assert from 'node:assert/strict';
import { accept, elicits, refused, samples, text } from './cases.mjs';
import { casesOf } from './tap.mjs';

const PROFILE = { name: 'Ann', mail: 'ann@example.com', age: 30, color: 'green', member: false };

export function askCases(sdk) {
	const modern = sdk.era === 'modern';
	const { it, on } = casesOf(sdk);
	const json = said => JSON.parse(said.slice(said.indexOf('{')));

	// ---- asking the user ----------------------------------------------------------------------

	on('a form is shown with its schema, and its answer reaches the tool', elicits(() => accept(PROFILE)), async s => {
		assert.equal(text(await s.call('ask_profile')), 'Ann <ann@example.com>, 30, green');
		assert.equal(s.asked.length, 1);
		assert.equal(s.asked[0].message, 'Who are you?');
		const { properties, required } = s.asked[0].requestedSchema;
		assert.deepEqual(required, ['name', 'mail', 'age']);
		assert.equal(properties.mail.format, 'email');
		assert.deepEqual([properties.age.minimum, properties.age.maximum], [0, 150]);
	});

	for (const [action, said] of [
		['decline', /declined/],
		['cancel', /closed/]
	])
		on(`a form that the user meets with ${action} is told apart`, elicits(() => ({ action })), async s => {
			assert.match(text(await s.call('test_elicitation', { message: 'Name?' })), new RegExp(`action=${action}`));
			const result = await s.call('ask_profile');
			assert.equal(result.isError, true);
			assert.match(text(result), said);
		});

	const fillsIn = elicits(() => accept({}), { form: { applyDefaults: true } });
	on('the SDK fills in the defaults of a form', fillsIn, async s => {
		const filled = json(text(await s.call('test_elicitation_sep1034_defaults')));
		assert.deepEqual(filled, { name: 'John Doe', age: 30, score: 95.5, status: 'active', verified: true });
	});

	it('choices of every kind are asked for', async t => {
		const content = {
			untitledSingle: 'option2',
			titledSingle: 'value1',
			legacyEnum: 'opt3',
			untitledMulti: ['option1', 'option3'],
			titledMulti: ['value2']
		};
		const s = await t.open(sdk, elicits(() => accept(content)));
		assert.deepEqual(json(text(await s.call('test_elicitation_sep1330_enums'))), content);
	});

	// The SDK lets this through or not; the tool must not see it either way.
	const tooOld = elicits(() => accept({ ...PROFILE, age: 400 }));
	on('an answer that does not fit the form is not taken', tooOld, async s => {
		const said = await s.call('ask_profile').then(r => [r.isError, text(r)], error => [true, error.message]);
		assert.equal(said[0], true);
		assert.doesNotMatch(said[1], /Ann </);
		assert.equal(text(await s.call('echo', { text: 'alive' })), 'alive');
	});

	on('a URL is shown to the user', elicits(() => accept(), { url: {} }), async s => {
		assert.equal(text(await s.call('ask_url')), 'logged in');
		const [{ mode, url, message }] = s.asked;
		assert.deepEqual([mode, url, message], ['url', 'https://example.com/login?x=1', 'Please log in']);
	});

	const nameOrColor = elicits(({ requestedSchema: { properties } }) =>
		accept('name' in properties ? { name: 'Ann' } : { color: 'red' })
	);
	on('two questions one after the other are both answered', nameOrColor, async s => {
		assert.equal(text(await s.call('test_input_required_result_multi_round')), 'Ann likes red');
	});

	it('three questions at once are all answered', async t => {
		const [user, model] = [elicits(() => accept({ name: 'Ann' })), samples('Paris')];
		const roots = [{ uri: 'file:///a' }, { uri: 'file:///b', name: 'B' }];
		const s = await t.open(sdk, {
			capabilities: { ...user.capabilities, ...model.capabilities, roots: {} },
			answers: { ...user.answers, ...model.answers, 'roots/list': () => ({ roots }) }
		});
		assert.equal(text(await s.call('test_input_required_result_multiple_inputs')), 'Ann, Paris, 2 roots');
	});

	const wordOrContext = elicits(({ requestedSchema: { properties } }) =>
		accept('word' in properties ? { word: 'please' } : { context: 'C' })
	);
	on('prompts and resources ask, too', wordOrContext, async s => {
		const got = await s.client.getPrompt({ name: 'test_input_required_result_prompt' });
		assert.equal(got.messages[0].content.text, 'Context: C');
		const { contents } = await s.client.readResource({ uri: 'ask://word' });
		assert.equal(contents[0].text, 'The word is please');
	});

	const mailOf = elicits(({ message }) => accept({ username: message, email: `${message}@example.com` }));
	on('100 calls that ask, at once, each get the answer to their own question', mailOf, async s => {
		const names = Array.from({ length: 100 }, (_, i) => `user${i}`);
		const results = await Promise.all(names.map(message => s.call('test_elicitation', { message })));
		results.forEach((r, i) => assert.match(text(r), new RegExp(`"username":"user${i}"`)));
	});

	// ---- asking the model ----------------------------------------------------------------------

	on("the client's model is asked, with every option", samples('Hi there'), async s => {
		assert.equal(text(await s.call('ask_model')), 'Hi there by small-1');
		const [{ _meta, ...params }] = s.asked;
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

	const usesTool = ({ messages }) => {
		const last = [messages.at(-1).content].flat()[0];
		const content = { type: 'text', text: `It is ${last.content?.[0].text}.` };
		if (last.type === 'tool_result') return { stopReason: 'endTurn', content };
		const use = { type: 'tool_use', id: 'use-1', name: 'double', input: { n: 21 } };
		return { stopReason: 'toolUse', content: [use] };
	};
	on('the model uses a tool, gets its result, and concludes', samples(usesTool, { tools: {} }), async s => {
		assert.equal(text(await s.call('model_with_tools')), 'It is 42.');
		assert.deepEqual(s.asked[0].toolChoice, { mode: 'required' });
		assert.equal(s.asked[0].tools[0].name, 'double');
		assert.equal([s.asked[1].messages.at(-1).content].flat()[0].toolUseId, 'use-1');
	});

	on('a client without sampling is not asked', async s => {
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
