/** Sources of prices. Apart from next-lists.ts, which has the bundled price book in it. */
export const feedSources = ['genai-prices', 'models.dev'] as const;
export type FeedSource = (typeof feedSources)[number];
