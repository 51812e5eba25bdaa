import { providers } from '../providers.ts';
import { type Dialect, withoutPath } from '../usage/dialect.ts';

/** Names in responses of models that are sold under another name. */
const aliases: Readonly<Record<string, string>> = {
  'davinci:2023-07-21-v2': 'davinci-002',
  'babbage:2023-07-21-v2': 'babbage-002',
};

/**
 * `-20251001`, `-2025-10-01`, `-08-2024`, `-preview-05-20`, `-latest`; `-001`, the first version of a model of Google; and
 * `:20230824-v2`, as OpenAI names old models.
 */
const VERSION = /(?:[-@](?:latest|001|20\d{2}-?\d{2}-?\d{2}|\d{2}-20\d{2}|(?<=-preview-)\d{2}-\d{2})|:20\d{6}-v\d)$/;
/** OpenRouter's `:nitro`, which changes the route and not the list price. */
const ROUTE = /:(nitro|floor|exacto|online|beta|extended|thinking)$/;

/** The name without its version, and then without `-preview`, which a later version may not be. */
const withoutVersion = (name: string): readonly string[] => {
  const model = name.replace(VERSION, '');
  return model === name ? [] : [model, model.replace(/-preview$/, '')];
};

/** True for a version of a listed model. Fine-tuned models (`ft:…`) are named by their owners. */
export const isVersionOf = (name: string, listed: string): boolean =>
  name.startsWith('ft:') || withoutVersion(name).includes(listed.replace(/[-@]$/, ''));

/** The model that a name means: at Mistral another one where it transcribes. */
export const modelMeant = (provider: string, dialect: Dialect, name: string): string =>
  provider === 'mistral' && dialect === 'openai-transcription'
    ? name.replace(/^voxtral-mini-(?=2507|latest)/i, 'voxtral-mini-transcribe-')
    : name;

/** A provider's own name of a model. Vertex AI's OpenAI-style API has names of OpenRouter's form. */
export const nameAt = (provider: string, model: string): string => {
  const name = withoutPath(provider, model);
  return provider === 'vertex' ? name.replace(/^google\//, '') : name;
};

/**
 * The names to look a model up by, the closest first: as given, then without the parts that books leave out. A fine-tuned model
 * (`ft:…`) never has the price of its base model, which is cheaper.
 */
export const modelNames = (model: string): readonly string[] => {
  const given = model
    .trim()
    .toLowerCase()
    .replace(/^models\//, '');
  const name = (Object.hasOwn(aliases, given) && aliases[given]) || given;
  if (name.startsWith('ft:')) return [name];
  const unrouted = name.replace(ROUTE, '');
  return [...new Set([name, unrouted, ...withoutVersion(unrouted)])].filter((candidate) => candidate !== '');
};

/** Gateway labels by the vendor prefix of OpenRouter's model ids. */
const vendors = new Map(
  providers.flatMap(({ label, priceIds }) => (priceIds.openrouter ? [[priceIds.openrouter, label]] : [])),
);

/**
 * The provider and its name of an OpenRouter model, whose list price OpenRouter passes on: `x-ai/grok-4.1-fast` is xAI's
 * `grok-4-1-fast`. Null for models of vendors that the gateway has no provider for.
 */
export const atVendor = (model: string): { readonly provider: string; readonly model: string } | null => {
  const [vendor = '', name] = model.toLowerCase().split('/');
  const provider = vendors.get(vendor);
  if (provider === undefined || !name) return null;
  return { provider, model: provider === 'xai' ? name.replace(/(\d)\.(\d)-fast/, '$1-$2-fast') : name };
};
