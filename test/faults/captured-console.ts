/** What this process logs as errors and warnings, gathered instead of printed. */
export interface CapturedConsole {
  readonly lines: string[];
  restore(): void;
}

export const captureConsole = (): CapturedConsole => {
  const { error, warn } = console;
  const lines: string[] = [];
  const take = (...words: unknown[]): void => void lines.push(words.map(String).join(' '));
  console.error = take;
  console.warn = take;
  return {
    lines,
    restore: () => {
      console.error = error;
      console.warn = warn;
    },
  };
};
