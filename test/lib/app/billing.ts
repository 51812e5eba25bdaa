import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { parseStageSettings } from '../../../lib/config.ts';
import { filledIn, onlyResource, resourcesOf, synthStage } from '../synth-stage.ts';

const environmentSchema = z.object({ Variables: z.record(z.string(), z.unknown()) });

const variables = (settings: object, stack: 'billing' | 'dashboard-api', id: string) => {
  const functions = Object.entries(resourcesOf(synthStage(settings)(stack), 'AWS::Lambda::Function'));
  const [, found] = functions.find(([name]) => name.startsWith(id)) ?? [];
  return environmentSchema.parse(found?.Properties['Environment']).Variables;
};

describe('billing', () => {
  it('sells nothing unless the settings say so, and sends people back to the dashboard', () => {
    expect(variables({}, 'dashboard-api', 'BillingHandler')).toMatchObject({
      STRIPE_API_ORIGIN: 'https://api.stripe.com',
      STRIPE_PRICES: '{}',
      CHECKOUT_SUCCESS_URL: 'https://dashboard.example.com/billing?checkout=completed',
      PORTAL_RETURN_URL: 'https://dashboard.example.com/billing',
    });
  });

  it('tells prices and pages to the functions', () => {
    const prices = '{"STARTER":["price_2","price_1"],"PRO":[]}';
    expect(variables(filledIn, 'dashboard-api', 'BillingHandler')).toMatchObject({
      STRIPE_PRICES: prices,
      CHECKOUT_SUCCESS_URL: 'https://acme.dev/paid?session={CHECKOUT_SESSION_ID}',
      CHECKOUT_CANCEL_URL: 'https://app.acme.dev/billing?checkout=cancelled',
    });
    expect(variables(filledIn, 'dashboard-api', 'StripeWebhookHandler')).toMatchObject({ STRIPE_PRICES: prices });
    expect(variables(filledIn, 'billing', 'Reconcile')).toMatchObject({ STRIPE_PRICES: prices });
  });

  it.each([
    [
      { STARTER: ['prod_1'] },
      'stages.prod.billing.prices.STARTER.0: must be the id of a Stripe price, such as price_1Abc',
    ],
    [{ STARTER: ['price_1'], PRO: ['price_1'] }, 'stages.prod.billing.prices: must not name a price twice'],
    [{ FREE: ['price_1'] }, /stages\.prod\.billing\.prices/],
  ])('refuses the prices %j', (prices, message) => {
    expect(() => parseStageSettings('prod', { billing: { prices } })).toThrow(message);
  });

  it('has its secrets in Secrets Manager, and none in a template', () => {
    const secrets = Object.values(resourcesOf(synthStage()('billing'), 'AWS::SecretsManager::Secret'));
    expect(secrets).toHaveLength(2);
    for (const { Properties, DeletionPolicy } of secrets) {
      expect(Properties).toMatchObject({ GenerateSecretString: {} });
      expect(Properties).not.toHaveProperty('SecretString');
      expect(DeletionPolicy).toBe('RetainExceptOnCreate');
    }
  });

  it('compares with Stripe every day', () => {
    const { ScheduleExpression } = onlyResource(synthStage()('billing'), 'AWS::Events::Rule').Properties;
    expect(ScheduleExpression).toBe('rate(1 day)');
  });

  it('counts events of Stripe that could not be worked off', () => {
    const filters = Object.values(resourcesOf(synthStage()('dashboard-api'), 'AWS::Logs::MetricFilter'));
    expect(filters.map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({
        FilterPattern: '"request failed"',
        MetricTransformations: [expect.objectContaining({ MetricName: 'StripeWebhookFailures' })],
      }),
    ]);
  });
});
