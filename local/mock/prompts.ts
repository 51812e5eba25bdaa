/** Orders to the mock providers in a prompt: `[in 1200, out 300]`, `[status 429]`, `[agents 2]`, or `[tool mcp__spend__spend]`. */
export interface MockOrder {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Status of an error response. */
  readonly status?: number;
  /** The response starts this number of agents, if the client has a tool for that. */
  readonly agents?: number;
  /** The response calls this tool of the client, without arguments. */
  readonly tool?: string;
}

const ORDER = /\[in (\d+), out (\d+)\]/;
const STATUS = /\[status (\d{3})\]/;
const AGENTS = /\[agents (\d)\]/;
const TOOL = /\[tool (\w+)\]/;
const CHARACTERS_PER_TOKEN = 4;
/** Tokens of the mock's response to a prompt that orders none. */
const DEFAULT_OUTPUT_TOKENS = 12;

/** A prompt whose response reports this usage. */
export const promptFor = (text: string, { inputTokens, outputTokens, status }: MockOrder): string =>
  `${text} [in ${inputTokens}, out ${outputTokens}]${status ? ` [status ${status}]` : ''}`;

/** The order in a prompt; where there is none, about what its text would use. */
export const orderOf = (prompt: string): MockOrder => {
  const [, input, output] = ORDER.exec(prompt) ?? [];
  const [, status] = STATUS.exec(prompt) ?? [];
  const [, agents] = AGENTS.exec(prompt) ?? [];
  const [, tool] = TOOL.exec(prompt) ?? [];
  return {
    inputTokens: input ? Number(input) : Math.ceil(prompt.length / CHARACTERS_PER_TOKEN),
    outputTokens: output ? Number(output) : DEFAULT_OUTPUT_TOKENS,
    ...(status && { status: Number(status) }),
    ...(agents && { agents: Number(agents) }),
    ...(tool && { tool }),
  };
};

/** Cost of a call by the mock of OpenRouter, in nano-USD: it reports cost itself. */
export const openRouterCostNanoUsd = ({ inputTokens, outputTokens }: MockOrder): number =>
  inputTokens * 200 + outputTokens * 800;
