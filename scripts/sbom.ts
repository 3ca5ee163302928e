/**
 * The software bill of materials of the published package, as CycloneDX: what is bundled into dist and what npm installs
 * with it. It must never hold a time or a random number: the same lockfile and bundle give the same bytes.
 */

/** What package-lock.json says of a package. */
interface Locked {
  version: string;
  license?: string;
  /** The digest of its tarball; the repository itself has none. */
  integrity?: string;
  /** Not installed with the published package. */
  dev?: true;
  /** Not installed on every platform. */
  optional?: true;
}

interface Lockfile {
  /** By path; `''` is the repository itself. */
  packages: { '': Locked & { name: string }; [path: string]: Locked };
}

/** One package at one path. */
interface Place extends Locked {
  name: string;
  bundled: boolean;
}

/**
 * @param lockfile the text of package-lock.json.
 * @param bundled the paths of the packages in the bundle, as the lockfile spells them.
 */
export function sbom(lockfile: string, bundled: readonly string[]): string {
  const { '': root, ...packages } = (JSON.parse(lockfile) as Lockfile).packages;
  const unknown = bundled.filter((path) => !packages[path]);
  if (unknown.length > 0) throw new Error(`bundled, but not in package-lock.json: ${unknown.join(', ')}`);

  const delivered = Object.entries(packages)
    .map(([path, locked]): Place => ({ ...locked, name: nameOf(path), bundled: bundled.includes(path) }))
    .filter((place) => place.bundled || !place.dev);
  // One version of a package may lie at several paths, and be delivered both ways.
  const byPurl = Map.groupBy(delivered, purlOf);
  const bom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { type: 'application', ...identity(root) } },
    components: [...byPurl.keys()].sort().map((purl) => library(byPurl.get(purl) ?? [])),
  };
  return `${JSON.stringify(bom, null, 2)}\n`;
}

function library(places: readonly Place[]) {
  const [place] = places;
  if (!place?.license || !place.integrity) throw new Error(`package-lock.json: no licence or digest of ${place?.name}`);
  const digest = Buffer.from(place.integrity.replace('sha512-', ''), 'base64').toString('hex');
  return {
    type: 'library',
    ...identity(place),
    scope: places.every(({ bundled, optional }) => optional && !bundled) ? 'optional' : 'required',
    hashes: [{ alg: 'SHA-512', content: digest }],
    properties: [
      { name: 'pixir:bundled', value: String(places.some(({ bundled }) => bundled)) },
      { name: 'pixir:installed', value: String(places.some(({ dev }) => !dev)) },
    ],
  };
}

function identity({ name, version, license }: Pick<Place, 'name' | 'version' | 'license'>) {
  const purl = purlOf({ name, version });
  return { 'bom-ref': purl, name, version, licenses: [{ expression: license }], purl };
}

function purlOf({ name, version }: Pick<Place, 'name' | 'version'>): string {
  return `pkg:npm/${name.replace('@', '%40')}@${encodeURIComponent(version)}`;
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
}
