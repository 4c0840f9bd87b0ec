// The official TypeScript SDK, v1, against our server over stdio.

import { askCases } from './lib/asks.mjs';
import { commonCases } from './lib/cases.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { legacyCases } from './lib/legacy.mjs';
import { run } from './lib/tap.mjs';
import { v1 } from './lib/v1.mjs';

commonCases(v1);
askCases(v1);
legacyCases(v1);
leftoverCase();
await run();
