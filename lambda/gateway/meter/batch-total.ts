import { largestPromptOf, promptSizeStep } from '../../domain/usage/iterations.ts';
import { addUsage } from '../../domain/usage/usage.ts';

type Usage = Record<string, unknown>;

/** Lines of a batch with the same prices per token. */
interface Group {
  readonly model: string | null;
  readonly usage: Usage;
  readonly lines: number;
  readonly largest_prompt_tokens: number;
}

/** A batch has few models. Lines above this limit form one group without a model, whose price is unknown. */
const MAX_GROUPS = 16;

/**
 * Sums the usage of a batch's results, in which each line is a response of its own. Lines with the same prices form a group:
 * the same model, place, speed and step of prompt size, because the price of long prompts depends on each prompt.
 */
export class BatchTotal {
  readonly #groups = new Map<string, Group>();

  add(model: string | null, usage: Usage): void {
    const promptTokens = largestPromptOf(usage);
    const step = promptSizeStep(promptTokens);
    const named = JSON.stringify([
      model,
      step,
      usage['inference_geo'],
      usage['speed'],
      Array.isArray(usage['iterations']),
    ]);
    const isKnown = this.#groups.has(named) || this.#groups.size < MAX_GROUPS;
    const key = isKnown ? named : '';
    const group = this.#groups.get(key);
    this.#groups.set(key, {
      model: isKnown ? model : null,
      usage: addUsage(group?.usage ?? null, usage) as Usage,
      lines: (group?.lines ?? 0) + 1,
      largest_prompt_tokens: Math.max(group?.largest_prompt_tokens ?? 0, promptTokens),
    });
  }

  /** The sum of all lines, with the groups as `batch_groups`; null if there is no line. */
  get usage(): Usage | null {
    const groups = [...this.#groups.values()];
    const sum = groups.reduce<Usage | null>((total, { usage }) => addUsage(total, usage) as Usage, null);
    return sum && { ...sum, batch_groups: groups };
  }
}
