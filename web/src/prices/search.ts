/** `?model=…&provider=…` opens the form for a price of that model. */
export interface PricesSearch {
  readonly model?: string | undefined;
  readonly provider?: string | undefined;
}

const text = (value: unknown): string | undefined => (value === undefined || value === '' ? undefined : String(value));

export const pricesSearch = ({ model, provider }: Record<string, unknown>): PricesSearch => ({
  model: text(model),
  provider: text(provider),
});
