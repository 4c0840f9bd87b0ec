// The HTTP server among people who mean it no good: one case for each rule, with the default
// configuration where nothing else is said, on raw sockets. Each case names its rule.

import { Ground } from './lib/ground.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { gateCases } from './lib/rules_gate.mjs';
import { listenCases } from './lib/rules_listen.mjs';
import { sessionRules } from './lib/rules_sessions.mjs';
import { startStopping, stopCase } from './lib/rules_stop.mjs';
import { slowCase, startSlow, wireCases } from './lib/rules_wire.mjs';
import { run } from './lib/tap.mjs';

const ground = await new Ground().start();
// These two take ten seconds, during which the others go on.
const slow = await startSlow(ground);
const stopping = await startStopping();
gateCases(ground);
wireCases(ground);
sessionRules(ground);
listenCases(ground);
slowCase(slow);
stopCase(stopping);
ground.lastCases();
leftoverCase();
await run();
