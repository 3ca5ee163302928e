/** Certificates for tests, made by openssl, and connections that trust one of them. Never for anything but a test. */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Certificate {
  /** Where the PEM files are. */
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
}

export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

/** Signed by itself, for whatever name. */
export function makeCertificate(dir: string, name: string): Certificate {
  const [certFile, keyFile] = [join(dir, `${name}.cert.pem`), join(dir, `${name}.key.pem`)];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-noenc', '-keyout', keyFile];
  const subject = ['-subj', `/CN=${name}`, '-addext', `subjectAltName=DNS:${name}`, '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...key, ...subject, '-out', certFile], { stdio: 'ignore' });
  return { certFile, keyFile, cert: readFileSync(certFile, 'utf8'), key: readFileSync(keyFile, 'utf8') };
}
