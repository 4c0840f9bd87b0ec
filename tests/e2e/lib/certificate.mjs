// certificate.mjs - certificates to try TLS out with.

import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** A key and its certificate for localhost, signed by itself. */
export function selfSigned(directory, name = 'tls') {
	const [cert, key] = ['cert', 'key'].map(what => join(directory, `${name}.${what}.pem`));
	const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
	const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
	execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert], {
		stdio: 'ignore'
	});
	return { cert, key };
}
