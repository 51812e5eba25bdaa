import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';

const record = z.record(z.string(), z.unknown());

const resourceSchema = z.object({
  Type: z.string(),
  Properties: record.default({}),
  Metadata: record.optional(),
});

const templateSchema = z.object({
  Resources: z.record(z.string(), resourceSchema).default({}),
  Outputs: z
    .record(z.string(), z.object({ Value: z.unknown(), Export: z.object({ Name: z.unknown() }).optional() }))
    .default({}),
});

const manifestSchema = z.object({
  artifacts: z
    .record(
      z.string(),
      z.object({
        type: z.string(),
        properties: record.default({}),
      }),
    )
    .default({}),
});

const stackPropertiesSchema = z.object({ templateFile: z.string(), stackName: z.string().optional() });
const nestedPropertiesSchema = z.object({ directoryName: z.string(), displayName: z.string().optional() });
const assetsSchema = z.object({
  files: z
    .record(
      z.string(),
      z.object({
        source: z.object({ path: z.string().optional() }),
        destinations: z.record(z.string(), z.object({ objectKey: z.string() })),
      }),
    )
    .default({}),
});

type Template = z.infer<typeof templateSchema>;

/** One CloudFormation stack of the synthesized app. */
export interface Stack {
  readonly name: string;
  /** Without the stage's name in front: data made from one stage's templates serves another's. */
  readonly localName: string;
  readonly template: Template;
  /** Object key of an uploaded asset (`<hash>.zip`) → the folder or file it is made from. */
  readonly assets: ReadonlyMap<string, string>;
}

/** One resource of a stack, its properties still with intrinsic functions in them. */
export interface Resource {
  readonly stack: Stack;
  readonly logicalId: string;
  readonly type: string;
  readonly properties: Readonly<Record<string, unknown>>;
  /** Path in the construct tree, e.g. `Prod/Usage/Recorder/Resource`; the logical id where the template has none. */
  readonly path: string;
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

const readAssets = (templateFile: string): ReadonlyMap<string, string> => {
  const file = templateFile.replace(/\.template\.json$/, '.assets.json');
  if (!existsSync(file)) return new Map();
  return new Map(
    Object.values(assetsSchema.parse(readJson(file)).files).flatMap(({ source, destinations }) =>
      source.path
        ? Object.values(destinations).map(
            ({ objectKey }) => [objectKey, resolve(dirname(file), source.path ?? '')] as const,
          )
        : [],
    ),
  );
};

/** All stacks of a cloud assembly of CDK, those of its stages included. */
export const readAssembly = (directory: string, stageName?: string): Stack[] => {
  const { artifacts } = manifestSchema.parse(readJson(join(directory, 'manifest.json')));
  return Object.entries(artifacts).flatMap(([id, artifact]) => {
    if (artifact.type === 'cdk:cloud-assembly') {
      const { directoryName, displayName } = nestedPropertiesSchema.parse(artifact.properties);
      return readAssembly(join(directory, directoryName), displayName);
    }
    if (artifact.type !== 'aws:cloudformation:stack') return [];
    const { templateFile, stackName: name = id } = stackPropertiesSchema.parse(artifact.properties);
    const localName = stageName && name.startsWith(`${stageName}-`) ? name.slice(stageName.length + 1) : name;
    const file = join(directory, templateFile);
    return [{ name, localName, template: templateSchema.parse(readJson(file)), assets: readAssets(file) }];
  });
};

/** All resources of the stacks, or those of a type. */
export const resourcesOf = (stacks: readonly Stack[], type?: string): Resource[] =>
  stacks.flatMap((stack) =>
    Object.entries(stack.template.Resources)
      .filter(([, { Type }]) => type === undefined || Type === type)
      .map(([logicalId, { Type, Properties, Metadata }]) => {
        const path = Metadata?.['aws:cdk:path'];
        return {
          stack,
          logicalId,
          type: Type,
          properties: Properties,
          path: typeof path === 'string' ? path : logicalId,
        };
      }),
  );
