// The HTTP server among people who mean it no good: one case for each rule, with the default
// configuration where nothing else is said, on raw sockets. Each case names its rule.

import { Ground } from './lib/ground.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { gateCases } from './lib/rules_gate.mjs';
import { listenCases } from './lib/rules_listen.mjs';
import { wireCases } from './lib/rules_wire.mjs';
import { run } from './lib/tap.mjs';

const ground = await new Ground().start();
gateCases(ground);
wireCases(ground);
listenCases(ground);
ground.lastCases();
leftoverCase();
await run();
