/** What is sold here. The ids are what STRIPE_PRICES names; nobody pays these amounts. */
export const localPrices = [
  { id: 'price_local_starter', product: 'STARTER', amount: 2_900 },
  { id: 'price_local_pro', product: 'PRO', amount: 19_900 },
  { id: 'price_local_scale', product: 'SCALE', amount: 99_900 },
] as const;

export type LocalPrice = (typeof localPrices)[number];

export const findPrice = (id: string): LocalPrice | undefined => localPrices.find((price) => price.id === id);

export const dollars = (cents: number): string => `$${(cents / 100).toFixed(2)}`;

/** Numbers of Stripe's test cards, and what happens to them here. @see https://docs.stripe.com/testing */
export const testCards = [
  { number: '4242424242424242', says: 'is charged', isAccepted: true, pays: true },
  { number: '4000000000000341', says: 'is accepted, but declined when charged', isAccepted: true, pays: false },
  { number: '4000000000000002', says: 'is declined at once', isAccepted: false, pays: false },
] as const;

export const findCard = (number: string | null) =>
  testCards.find((card) => card.number === number?.replaceAll(' ', ''));
