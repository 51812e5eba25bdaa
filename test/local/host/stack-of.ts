import type { Stack } from '../../../local/host/template/assembly.ts';
import type { App } from '../../../local/host/template/definitions.ts';
import { createResolver } from '../../../local/host/template/intrinsics.ts';

type Resources = Record<string, { readonly Type: string; readonly Properties?: Record<string, unknown> }>;

/** A stack as it is read from a template, made by hand. */
export const stackOf = (name: string, resources: Resources, more: Partial<Stack['template']> = {}): Stack => ({
  name,
  localName: name,
  assets: new Map(),
  template: {
    Resources: Object.fromEntries(
      Object.entries(resources).map(([id, { Type, Properties = {} }]) => [id, { Type, Properties }]),
    ),
    Outputs: {},
    ...more,
  },
});

export const appOf = (...stacks: Stack[]): App => ({
  stacks,
  resolve: createResolver(stacks, 'http://127.0.0.1:4566'),
});
