// The official TypeScript SDK, v2, against our server over stdio, in both eras.

import { askCases } from './lib/asks.mjs';
import { commonCases } from './lib/cases.mjs';
import { leftoverCase } from './lib/leftover.mjs';
import { legacyCases } from './lib/legacy.mjs';
import { modernCases } from './lib/modern.mjs';
import { revisionCases } from './lib/revisions.mjs';
import { run } from './lib/tap.mjs';
import { v2Legacy, v2Modern } from './lib/v2.mjs';

commonCases(v2Legacy);
askCases(v2Legacy);
legacyCases(v2Legacy);
revisionCases(v2Legacy);
commonCases(v2Modern);
askCases(v2Modern);
modernCases(v2Modern);
leftoverCase();
await run();
