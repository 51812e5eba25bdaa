export const feedSources = ['genai-prices', 'models.dev'] as const;
export type FeedSource = (typeof feedSources)[number];
