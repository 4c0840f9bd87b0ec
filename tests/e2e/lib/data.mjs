// data.mjs - the official JSON Schemas of the protocol's revisions: $CLEAT_TEST_DATA/mcp-schema/REV/schema.json
// (or ../shared/data next to the sources), else what scripts/setup could get (.deps/data).

import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';

const source = process.env.CLEAT_SOURCE_DIR ?? resolve(import.meta.dirname, '../../..');
const places = [process.env.CLEAT_TEST_DATA || join(source, '../shared/data'), join(source, '.deps/data')];

/** Where the schema of a revision is; undefined when it is nowhere. */
export const schemaFile = revision =>
	places.map(place => join(place, 'mcp-schema', revision, 'schema.json')).find(path => existsSync(path));
