import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { type App, definitions, displayName } from '../template/definitions.ts';

const functionSchema = z.object({
  Code: z.object({ S3Key: z.string().optional() }),
  Handler: z.string().optional(),
  Timeout: z.number().default(3),
  MemorySize: z.number().default(128),
  Environment: z.object({ Variables: z.record(z.string(), z.string()).default({}) }).default({ Variables: {} }),
});

/** A Lambda function as the templates declare it. */
export interface LambdaFunction {
  readonly name: string;
  readonly arn: string;
  /** Short, for people; unique among the functions. */
  readonly label: string;
  /** The module of the bundled asset, and the name of what it exports. */
  readonly file: string;
  readonly exportName: string;
  readonly timeoutMs: number;
  readonly memoryMb: number;
  readonly environment: Readonly<Record<string, string>>;
}

const unique = (labels: readonly string[], label: string, index: number): string => {
  const before = labels.slice(0, index).filter((other) => other === label).length;
  return before === 0 ? label : `${label}-${before + 1}`;
};

/** Functions whose code is a bundled JavaScript asset; CDK's own (inline code, custom resources in Python) have no part here. */
export const lambdaFunctions = (app: App): LambdaFunction[] => {
  const found = definitions(app, functionSchema, 'AWS::Lambda::Function').flatMap((definition) => {
    const { resource, properties } = definition;
    const asset = resource.stack.assets.get(properties.Code.S3Key ?? '');
    const [, module, exportName] = /^(.*)\.([^.]+)$/.exec(properties.Handler ?? '') ?? [];
    const file = join(asset ?? '', `${module}.js`);
    if (!asset || !exportName || !existsSync(file)) return [];
    return [
      {
        name: definition.ref,
        arn: definition.attribute('Arn'),
        label: displayName(resource),
        file,
        exportName,
        timeoutMs: properties.Timeout * 1000,
        memoryMb: properties.MemorySize,
        environment: properties.Environment.Variables,
      },
    ];
  });
  const labels = found.map(({ label }) => label);
  return found.map((each, index) => ({ ...each, label: unique(labels, each.label, index) }));
};

/** The function an ARN names, also inside an API Gateway integration URI; versions and aliases are the function itself. */
export const functionOfArn = (functions: readonly LambdaFunction[], text: string): LambdaFunction | undefined => {
  const name = /:function:([A-Za-z0-9-_]+)/.exec(text)?.[1];
  return functions.find((each) => each.name === name);
};
