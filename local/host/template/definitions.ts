import type { z } from 'zod';
import { type Resource, resourcesOf, type Stack } from './assembly.ts';
import type { Resolve } from './intrinsics.ts';

/** The app's stacks with the means to read them: what every part of the host starts from. */
export interface App {
  readonly stacks: readonly Stack[];
  readonly resolve: Resolve;
}

/** A resource with its properties resolved and parsed, and the names it is referred to by. */
export interface Definition<Properties> {
  readonly resource: Resource;
  readonly properties: Properties;
  /** Value of `Ref`. */
  readonly ref: string;
  attribute(name: string): string;
}

/**
 * All resources of a type.
 *
 * @param schema the members the host uses; others are dropped unread
 * @throws ZodError where a resource is not what the host can run
 */
export const definitions = <Properties>(
  { stacks, resolve }: App,
  schema: z.ZodType<Properties>,
  type: string,
): Definition<Properties>[] =>
  resourcesOf(stacks, type).map((resource) => ({
    resource,
    properties: schema.parse(resolve(resource.properties, resource.stack)),
    ref: String(resolve({ Ref: resource.logicalId }, resource.stack)),
    attribute: (name) => String(resolve({ 'Fn::GetAtt': [resource.logicalId, name] }, resource.stack)),
  }));

/** Ids that do not say what a construct is for. */
const IDLE_IDS = new Set(['Resource', 'Default', 'Function']);

/** A short name for people, from the construct path: `Prod/Usage/Recorder/Resource` → `Recorder`. */
export const displayName = (resource: Resource): string =>
  resource.path.split('/').findLast((id) => !IDLE_IDS.has(id)) ?? resource.logicalId;
