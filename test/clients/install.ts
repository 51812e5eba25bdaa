import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Versions of packages by name. */
type Packages = Readonly<Record<string, string>>;

/** Runs an installation in a folder of its own, unless the folder has what is wanted. The scripts find the packages next to them. */
const installOnce = async (dir: string, wanted: string, run: () => Promise<void>): Promise<void> => {
  const marker = join(dir, 'installed');
  await cp(join(import.meta.dirname, 'sdk'), dir, { recursive: true });
  if (existsSync(marker) && (await readFile(marker, 'utf8')) === wanted) return;
  await mkdir(dir, { recursive: true });
  await run();
  await writeFile(marker, wanted);
};

/**
 * Installs packages of the npm registry into a folder of their own, once. They are no dependencies of the project: some weigh
 * hundreds of megabytes.
 */
export const install = (dir: string, packages: Packages): Promise<void> => {
  const wanted = `${JSON.stringify({ private: true, dependencies: packages }, null, 2)}\n`;
  return installOnce(dir, wanted, async () => {
    await writeFile(join(dir, 'package.json'), wanted);
    // Scripts run: some packages fetch the program of this platform in one.
    execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: dir, stdio: 'inherit' });
  });
};

/** The same with packages of Python's index, into an environment of their own. @throws Error where the index cannot be reached */
export const installPython = (dir: string, packages: Packages): Promise<void> => {
  const wanted = Object.entries(packages).map(([name, version]) => `${name}==${version}`);
  return installOnce(dir, wanted.join('\n'), async () => {
    execFileSync('python3', ['-m', 'venv', dir], { stdio: 'pipe' });
    execFileSync(join(dir, 'bin/pip'), ['install', '--quiet', '--retries', '1', ...wanted], { stdio: 'pipe' });
  });
};
