import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

const ERROR_LEVELS = new Set(['ERROR', 'CRITICAL', 'FATAL']);
const CONSOLE_CHARACTERS = 300;

/** The message of a structured line at error level, as Powertools writes them; undefined for all else. */
const errorMessage = (line: string): string | undefined => {
  if (!line.startsWith('{')) return undefined;
  try {
    const entry = JSON.parse(line) as { level?: unknown; message?: unknown; error?: { message?: unknown } };
    if (!ERROR_LEVELS.has(String(entry.level).toUpperCase())) return undefined;
    return [entry.message, entry.error?.message].filter((part) => part !== undefined).join(': ');
  } catch {
    return undefined;
  }
};

/** One function's log file, `<folder>/<label>.log`. Errors also reach the console, in one line. */
export const functionLog = (folder: string, label: string) => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${label}.log`);
  const stream = createWriteStream(file, { flags: 'a' });
  const ends: Promise<unknown>[] = [];
  const say = (message: string) =>
    console.error(`${label}: ${message.replaceAll(/\s+/g, ' ').slice(0, CONSOLE_CHARACTERS)} (more in ${file})`);
  return {
    file,
    take(output: Readable): void {
      const lines = createInterface({ input: output }).on('line', (line) => {
        stream.write(`${line}\n`);
        const message = errorMessage(line);
        if (message !== undefined) say(message);
      });
      ends.push(once(lines, 'close'));
    },
    /** One line for the console; the whole for the file. */
    error(message: string, detail?: string): void {
      stream.write(`${detail ?? message}\n`);
      say(message);
    },
    /** Once what it takes has ended. */
    async close(): Promise<void> {
      await Promise.all(ends);
      await new Promise<void>((resolve) => stream.end(resolve));
    },
  };
};

export type FunctionLog = ReturnType<typeof functionLog>;
