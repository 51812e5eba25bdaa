import type { ProviderOverrides } from './override.ts';

const source = 'https://docs.x.ai/developers/pricing';

export const xai: ProviderOverrides = {
  overrides: [
    {
      models: ['grok-imagine-image'],
      usdEach: { images: 0.02 },
      why: 'in neither book',
      source: `${source}, as quoted by atlascloud.ai and docs.crazyrouter.com; https://docs.x.ai/developers/cost-tracking has an image at 0.02`,
      asOf: '2026-11-20',
    },
    {
      models: ['grok-imagine-image-pro'],
      usdEach: { images: 0.07 },
      why: 'in neither book',
      source: 'cost_in_usd_ticks of a recorded response',
      asOf: '2026-11-20',
    },
    {
      models: ['grok-2-image*'],
      usdEach: { images: 0.07 },
      why: 'in neither book',
      source: `${source}, as quoted alike in several public repositories`,
      asOf: '2026-11-20',
    },
  ],
};
