import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { z } from 'zod';
import { parseStageSettings } from './config.ts';
import { HandlerFunction } from './constructs/handler-function.ts';
import { SpendGatewayStage } from './stage.ts';

/** A function as it would be deployed, bundled on this machine. */
export interface BundledFunction {
  /** `gateway/Proxy/Function`: stack and construct. */
  readonly name: string;
  /** The entry file, relative to the root of the repository. */
  readonly entry: string;
  /** The module that exports `handler`: `index.js`. */
  readonly file: string;
  readonly memoryMb: number;
  /** Undefined where it refers to a resource. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const contextSchema = z.object({ context: z.record(z.string(), z.unknown()) });

const resourceSchema = z.object({
  Properties: z.object({
    Code: z.object({ S3Key: z.string() }),
    MemorySize: z.number(),
    Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }).optional(),
  }),
});

/**
 * Bundles the functions of a stage with default settings exactly as a deployment would.
 *
 * @param outdir takes the cloud assembly
 * @param stackName of this stack alone, such as `gateway`; of all where left out
 */
export const bundleFunctions = (outdir: string, stackName?: string): BundledFunction[] => {
  const { context } = contextSchema.parse(JSON.parse(readFileSync(join(import.meta.dirname, '../cdk.json'), 'utf8')));
  const bundling = { [BUNDLING_STACKS]: [stackName === undefined ? '**' : `ai-spend-dev/${stackName}`] };
  const app = new App({ context: { ...context, ...bundling }, analyticsReporting: false, outdir });
  const stage = new SpendGatewayStage(app, parseStageSettings('dev', {}));
  const assembly = app.synth().getNestedAssembly(stage.artifactId);

  const stacks = stage.node.children.filter((child) => child instanceof Stack);
  return stacks
    .filter(({ node }) => stackName === undefined || node.id === stackName)
    .flatMap((stack) => {
      const { Resources } = z
        .object({ Resources: z.record(z.string(), z.unknown()) })
        .parse(assembly.getStackArtifact(stack.artifactId).template);
      return stack.node
        .findAll()
        .filter((construct) => construct instanceof HandlerFunction)
        .map((handler): BundledFunction => {
          const id = stack.getLogicalId(handler.node.defaultChild as CfnFunction);
          const { Code, MemorySize, Environment } = resourceSchema.parse(Resources[id]).Properties;
          const variables = Object.entries(Environment?.Variables ?? {});
          return {
            name: handler.node.path.slice(stage.node.path.length + 1),
            entry: handler.entry,
            file: join(app.outdir, `asset.${Code.S3Key.replace(/\.zip$/, '')}`, 'index.js'),
            memoryMb: MemorySize,
            environment: Object.fromEntries(
              variables.map(([name, value]) => [name, typeof value === 'string' ? value : undefined]),
            ),
          };
        });
    });
};
