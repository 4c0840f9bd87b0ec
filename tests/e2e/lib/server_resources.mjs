// The resources of server_v1.mjs and server_v2.mjs, which both SDKs are told in the same way.

/** `ResourceTemplate` is the SDK's. */
export function addResources(server, ResourceTemplate) {
	server.registerResource('text', 'test://text', { mimeType: 'text/plain' }, uri => ({
		contents: [{ uri: uri.href, mimeType: 'text/plain', text: 'some text' }]
	}));
	server.registerResource('blob', 'test://blob', { mimeType: 'application/octet-stream' }, uri => ({
		contents: [{ uri: uri.href, mimeType: 'application/octet-stream', blob: 'AAEC/w==' }]
	}));
	server.registerResource('watched', 'test://watched', {}, uri => ({ contents: [{ uri: uri.href, text: 'watched' }] }));
	server.registerResource('item', new ResourceTemplate('test://item/{id}', { list: undefined }), {}, (uri, { id }) => ({
		contents: [{ uri: uri.href, text: `item ${id}` }]
	}));
}
