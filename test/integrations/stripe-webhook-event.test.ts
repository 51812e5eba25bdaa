import { describe, expect, it } from '@jest/globals';
import Stripe from 'stripe';
import type { CachedSecret } from '../../lambda/integrations/stripe-client.ts';
import { stripeEventReader } from '../../lambda/integrations/stripe-webhook-event.ts';

const NOW = Date.parse('2026-11-20T16:30:00Z');
const nowSeconds = NOW / 1_000;

const event = (object: object, type = 'invoice.paid') =>
  JSON.stringify({ id: 'evt_1', type, data: { object } }, null, 2);
const payload = event({ object: 'invoice', id: 'in_1', customer: 'cus_1' });

const signed = (body: string, secret: string, timestamp = nowSeconds) =>
  Stripe.webhooks.generateTestHeaderString({ payload: body, secret, timestamp });

const secrets = (first: string, then = first): CachedSecret & { rereads: number } => ({
  rereads: 0,
  read: async () => first,
  async reread() {
    this.rereads += 1;
    return then;
  },
});

const read = (body: string, signature: string | undefined, of: CachedSecret) =>
  stripeEventReader(of, () => NOW)(Buffer.from(body), signature);

describe('an event of Stripe', () => {
  it('is read as id, type and customer', async () => {
    expect(await read(payload, signed(payload, 'whsec_a'), secrets('whsec_a'))).toEqual({
      id: 'evt_1',
      type: 'invoice.paid',
      customerId: 'cus_1',
    });
  });

  it.each([
    ['a customer', { object: 'customer', id: 'cus_2', deleted: true }, 'cus_2'],
    ['an expanded customer', { object: 'subscription', id: 'sub_1', customer: { id: 'cus_3' } }, 'cus_3'],
    ['no customer', { object: 'balance' }, undefined],
    ['a guest', { object: 'checkout.session', id: 'cs_1', customer: null }, undefined],
  ])('may be about %s', async (_, object, customerId) => {
    const body = event(object);
    expect((await read(body, signed(body, 'whsec_a'), secrets('whsec_a'))).customerId).toBe(customerId);
  });

  it('must have its object, which a thin one has not', async () => {
    const thin = JSON.stringify({ id: 'evt_2', object: 'v2.core.event', type: 'v1.invoice.paid' });
    await expect(read(thin, signed(thin, 'whsec_a'), secrets('whsec_a'))).rejects.toMatchObject({
      message: expect.stringContaining('snapshot'),
    });
  });

  it('is signed byte for byte', async () => {
    const signature = signed(payload, 'whsec_a');
    for (const changed of [JSON.stringify(JSON.parse(payload)), payload.replace('cus_1', 'cus_2'), `${payload} `])
      await expect(read(changed, signature, secrets('whsec_a'))).rejects.toMatchObject({ name: 'ValidationError' });
  });

  it('must be signed', async () => {
    const short = 'a'.repeat(63);
    for (const signature of [
      undefined,
      '',
      'nonsense',
      `t=${nowSeconds},v1=00`,
      `t=${nowSeconds}`,
      'v1=abc',
      `t=${nowSeconds},v1=`,
      't=1,v1=',
      't=,v1=',
      `t=${nowSeconds},v1=${short}é`,
      `t=${nowSeconds},v1=${'é'.repeat(64)}`,
      `t=${nowSeconds},v1=${'💸'.repeat(32)}`,
      '💸',
    ])
      await expect(read(payload, signature, secrets('whsec_a'))).rejects.toMatchObject({ name: 'ValidationError' });
    await expect(read('', signed('', 'whsec_a'), secrets('whsec_a'))).rejects.toMatchObject({
      name: 'ValidationError',
    });
  });

  it.each([
    [0, true],
    [-300, true],
    [-301, false],
    [30, true],
  ])('signed %i s from now is taken: %s', async (seconds, isTaken) => {
    const reading = read(payload, signed(payload, 'whsec_a', nowSeconds + seconds), secrets('whsec_a'));
    if (isTaken) await expect(reading).resolves.toMatchObject({ id: 'evt_1' });
    else await expect(reading).rejects.toMatchObject({ name: 'ValidationError' });
  });

  it.each(['whsec_new whsec_old', 'whsec_new\nwhsec_old\n', 'whsec_new, whsec_old'])(
    'is taken with either of two secrets: %j',
    async (both) => {
      for (const secret of ['whsec_new', 'whsec_old']) {
        const of = secrets(both);
        expect((await read(payload, signed(payload, secret), of)).id).toBe('evt_1');
        expect(of.rereads).toBe(0);
      }
      await expect(read(payload, signed(payload, 'whsec_other'), secrets(both))).rejects.toMatchObject({
        name: 'ValidationError',
      });
    },
  );

  it('is accepted with any of the signatures that Stripe sends while a secret is rotated', async () => {
    const [, old] = signed(payload, 'whsec_old').split(',');
    expect((await read(payload, `${signed(payload, 'whsec_unknown')},${old}`, secrets('whsec_old'))).id).toBe('evt_1');
  });

  it('with a wrong signature causes the secret to be read again, once', async () => {
    const rotated = secrets('whsec_old', 'whsec_new');
    expect((await read(payload, signed(payload, 'whsec_new'), rotated)).id).toBe('evt_1');
    const wrong = secrets('whsec_old', 'whsec_new');
    await expect(read(payload, signed(payload, 'whsec_other'), wrong)).rejects.toMatchObject({
      name: 'ValidationError',
    });
    expect([rotated.rereads, wrong.rereads]).toEqual([1, 1]);
  });

  it('is rejected while the secret is empty', async () => {
    for (const text of ['', 'hA93kd82-random', ' '])
      await expect(read(payload, signed(payload, text || 'x'), secrets(text))).rejects.toMatchObject({
        name: 'ValidationError',
      });
  });
});
