/**
 * Colours of names: a name has the same colour whatever the filter, order, range or reload. Each provider has a hue, of which its models
 * have shades.
 */

/** Hues from red to pink. What has one: a provider's label, and the first words of its models' names. */
const hues = [
  'groq',
  'anthropic claude',
  'xai grok',
  'mistral mixtral ministral magistral codestral devstral pixtral',
  'openrouter',
  'openai gpt chatgpt o1 o3 o4 codex text whisper tts dall',
  'perplexity sonar',
  'together',
  'google gemini gemma imagen veo',
  'deepseek',
  'cohere command embed rerank',
  'fireworks',
].map((words) => words.split(' '));
const SHADES = 5;

/** Everything that has no place in a chart of its own. */
export const REST_COLOR = 'var(--series-other)';

/** FNV-1a. With this start the usual models of a provider have shades of their own. */
const HASH_START = 231_988;
const hashOf = (text: string): number =>
  [...text].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 0x01000193) >>> 0, HASH_START);

/** OKLCH, in which equal steps look equal. The lightness of neighbouring hues differs by half a step. */
const colorAt = (hue: number, shade: number, [light, dark] = [0.12, 0.1]): string => {
  const of = (start: number, chroma = 0) =>
    `oklch(${(start + 0.08 * (shade + (hue % 2) / 2)).toFixed(2)} ${chroma} ${15 + 30 * hue})`;
  return `light-dark(${of(0.38, light)}, ${of(0.48, dark)})`;
};

/** A grey, for what has no name of its own. The rest of a chart is paler. */
export const neutral = (shade: number): string => colorAt(5, shade, [0.01, 0.01]);

/** The colours that a name prefers, best first. */
const preferredOf = ({ name, of }: Colored): string[] => {
  const word = of
    ?.toLowerCase()
    .split('/')
    .at(-1)
    ?.split(/[^a-z0-9]/)[0];
  const known = hues.findIndex((words) => words.includes(word ?? ''));
  const hash = hashOf(name);
  const hue = known === -1 ? hashOf(word ?? name) : known;
  return Array.from({ length: hues.length * SHADES }, (_, index) =>
    colorAt((hue + 5 * Math.floor(index / SHADES)) % hues.length, ((hash >>> 8) + index) % SHADES),
  );
};

export interface Colored {
  readonly name: string;
  /** The provider or model that gives the name its hue. Without one the name has its own hue. */
  readonly of?: string | undefined;
}

/**
 * The colours of the names of one chart, by name. Where two prefer the same, the first in the alphabet has it, and the other one the next
 * shade that none prefers.
 */
export const colorsOf = (all: readonly Colored[]): ReadonlyMap<string, string> => {
  const preferred = all.map((each) => [each.name, preferredOf(each)] as const).sort(([a], [b]) => (a < b ? -1 : 1));
  const taken = new Map<string | undefined, string>();
  for (const [name, [first]] of preferred) if (!taken.has(first)) taken.set(first, name);
  return new Map(
    preferred.map(([name, colors]) => {
      const color = colors.find((each, index) => (index === 0 && taken.get(each) === name) || !taken.has(each));
      taken.set(color, name);
      return [name, color ?? REST_COLOR];
    }),
  );
};
