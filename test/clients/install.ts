import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Installs packages of the npm registry into a folder of their own, once. They are no dependencies of the project: some weigh
 * hundreds of megabytes.
 *
 * @param packages versions by name
 */
export const install = async (dir: string, packages: Readonly<Record<string, string>>): Promise<void> => {
  const file = join(dir, 'package.json');
  const wanted = `${JSON.stringify({ private: true, dependencies: packages }, null, 2)}\n`;
  const marker = join(dir, 'installed');
  // The scripts find the packages next to them.
  await cp(join(import.meta.dirname, 'sdk'), dir, { recursive: true });
  if (existsSync(marker) && (await readFile(marker, 'utf8')) === wanted) return;
  await mkdir(dir, { recursive: true });
  await writeFile(file, wanted);
  // Scripts run: some packages fetch the program of this platform in one.
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error'], { cwd: dir, stdio: 'inherit' });
  await writeFile(marker, wanted);
};
