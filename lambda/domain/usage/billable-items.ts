/**
 * Names of `reading.billableItems`: billable things outside the provider's usage object, and parameters that set a price. The meter
 * writes them, prices read them; a missing name means "not seen". Values are numbers unless the name says otherwise.
 */
export const BILLABLE = {
  /**
   * Responses: items of `output` with type `web_search_call` whose `action.type` is `search` or absent. Opening or reading a
   * page (`open_page`, `find_in_page`) is not charged. @see https://developers.openai.com/api/docs/guides/tools-web-search
   */
  webSearchCalls: 'web_search_call',
  /** Responses: `tool_usage.web_search.num_requests` where the response has it; it has precedence over the count of items. */
  webSearchRequests: 'web_search_requests',
  /** 1 where the `tools` of the request or the response have a `web_search_preview…` tool, which has another price. */
  webSearchPreview: 'web_search_preview',
  /** Responses: items of `output` with type `file_search_call`. */
  fileSearchCalls: 'file_search_call',
  /** Responses: different `container_id`s among the `code_interpreter_call` and `shell_call` items of `output`. */
  codeContainers: 'code_interpreter_container',
  /** String, `4g`: `memory_limit` of the container in the `tools` of the response. */
  containerMemory: 'code_interpreter_container.memory',

  /** 1 where Groq ran a tool of its own, or may have (the request of a stream has such a tool), or Vertex AI searched the client's data. */
  executedTools: 'executed_tools',

  /**
   * Tokens of the prompt read from a cache, from a response header (Fireworks, whose usage may leave them out).
   * @see https://docs.fireworks.ai/guides/prompt-caching
   */
  cachedPromptTokens: 'prompt.cached_tokens',

  /** Responses: leaves of `tool_usage.image_gen`, which the usage object leaves out. Cached tokens are not in the others. */
  imageGenInputTextTokens: 'image_gen.input_text_tokens',
  imageGenCachedTextTokens: 'image_gen.cached_text_tokens',
  imageGenInputImageTokens: 'image_gen.input_image_tokens',
  imageGenCachedImageTokens: 'image_gen.cached_image_tokens',
  imageGenOutputTextTokens: 'image_gen.output_text_tokens',
  /** Those of images, and in older events all. */
  imageGenOutputTokens: 'image_gen.output_tokens',
  /** Images that the tool made whose tokens are in no member of the response: older ones, and Azure's, have no `tool_usage`. */
  imageGenCalls: 'image_generation_call',
  /** String: `model` of the `image_generation` tool in the `tools` of the response, else of the request. */
  imageGenModel: 'image_gen.model',

  /** A search as a call of its own: 1 where its response has results, 0 where their list is empty. */
  searchResults: 'search.results',

  /** Text recognition: 1 where the request has a format for annotations, whose pages have a price of their own. */
  annotation: 'ocr.annotation',

  /** Images made: length of `data` (OpenAI images), `predictions` (Imagen), image outputs elsewhere. */
  imageCount: 'image.count',
  /** String, `1024x1024`: the response's `size`, else the request's. */
  imageSize: 'image.size',
  /** String, `low`, `medium`, `high`, `standard`, `hd` …: the response's `quality`, else the request's. */
  imageQuality: 'image.quality',

  /** Text-to-speech: characters (code points) of the request's `input`. */
  speechCharacters: 'speech.characters',
  /** The same: seconds of the response, in codecs whose bytes say it, with fractions. */
  speechSeconds: 'speech.seconds',
  /** Speech-to-text without a usage object: `duration` of a verbose response, in seconds, with fractions. */
  audioSeconds: 'audio.seconds',
  /** Generated video: OpenAI's `seconds` of the request or the response. */
  videoSeconds: 'video.seconds',

  /** Gemini: most `webSearchQueries` and `imageSearchQueries` seen in a candidate, all candidates summed. */
  groundingQueries: 'grounding.queries',
  /** Gemini: responses (1, but of a batch) with a candidate that carries web `groundingMetadata` (queries or a search entry point). */
  groundedPrompts: 'grounding.prompts',
  /** Gemini: the same of a candidate that is grounded in Google Maps. */
  mapsPrompts: 'grounding.maps',

  /** Responses with usage, where these are the results of a batch; 1 in older events. */
  batch: 'batch',
  /** Results in a batch output file that report no usage, such as transcriptions. */
  resultsWithoutUsage: 'batch.results_without_usage',
  /** String: Mistral's `output_file`, a file with the results that the response of the batch has, too. */
  batchFile: 'batch.file',
  /** Anthropic: `request_counts.succeeded` of a batch that has ended: results that are charged, and not in this response. */
  batchSucceeded: 'batch.succeeded',
  /**
   * Responses that share a usage object (a batch's, Anthropic's iterations) have the tokens of the largest prompt, which sets the
   * price. @see partsOf
   */
  largestPromptTokens: 'batch.largest_prompt_tokens',
  /** String: `status` of a Responses or interactions response: `completed`, `incomplete`, `failed`, `queued`, `in_progress` … */
  responseStatus: 'response.status',
  /** String: `id` of a response that can be fetched again by GET (background responses): it is counted once by this id. */
  responseId: 'response.id',
  /** String: `request_id` of xAI's deferred chat, by which its result is fetched. */
  deferredId: 'response.deferred_id',
  /** 1 for `background: true`, 0 for `false`: a response that is not in the background was charged when it was made. */
  responseBackground: 'response.background',
  /** 1 where a response of Anthropic ended with `stop_reason: "refusal"`: without output it is not charged. */
  refused: 'response.refused',
  /**
   * 1 where the request has Anthropic bill the customer behind a user profile (`billing_policy.bill_to`).
   * @see https://platform.claude.com/docs/en/manage-claude/user-profiles
   */
  billedToAnother: 'request.billed_to_another',
  /**
   * 1 where a status below 400 carries an error and no result: a body that is one `error` object, or a stream whose first event
   * is one. Providers do not charge for it.
   */
  responseError: 'response.error',
} as const;
