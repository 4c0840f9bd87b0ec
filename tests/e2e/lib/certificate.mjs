// certificate.mjs - certificates to try TLS out with.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** An authority of our own, and a certificate of it for `host` that is good for so many days (0: it has
 * expired). */
export function signed(directory, { host = 'localhost', days = 90 } = {}) {
	const at = name => join(directory, `${host}.${name}`);
	const openssl = (...args) => execFileSync('openssl', args, { stdio: 'ignore' });
	openssl('req', '-x509', ...ec, '-days', '90', '-subj', '/CN=An authority', '-keyout', at('ca.key'), '-out', at('ca.pem'));
	openssl('req', '-new', ...ec, '-subj', `/CN=${host}`, '-keyout', at('key.pem'), '-out', at('csr'));
	writeFileSync(at('ext'), `subjectAltName=DNS:${host}\n`);
	openssl('x509', '-req', '-in', at('csr'), '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial', '-days', String(days), '-extfile', at('ext'), '-out', at('cert.pem'));
	return { ca: at('ca.pem'), cert: at('cert.pem'), key: at('key.pem') };
}

/** A key and its certificate for localhost, signed by itself. */
export function selfSigned(directory, name = 'tls') {
	const [cert, key] = ['cert', 'key'].map(what => join(directory, `${name}.${what}.pem`));
	const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
	execFileSync('openssl', ['req', '-x509', ...ec, '-days', '2', ...subject, '-keyout', key, '-out', cert], {
		stdio: 'ignore'
	});
	return { cert, key };
}
