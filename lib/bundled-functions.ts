import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import type { CfnFunction } from 'aws-cdk-lib/aws-lambda';
import { BUNDLING_STACKS } from 'aws-cdk-lib/cx-api';
import { z } from 'zod';
import { parseStageSettings, readContext } from './config.ts';
import { BUNDLE_FILE } from './constructs/function-bundle.ts';
import { HandlerFunction } from './constructs/handler-function.ts';
import { SpendGatewayStage } from './stage.ts';

const resourceSchema = z.object({
  Properties: z.object({
    Code: z.object({ S3Key: z.string() }),
    MemorySize: z.number(),
    Environment: z.object({ Variables: z.record(z.string(), z.unknown()) }).optional(),
  }),
});

/** The functions of a stage with default settings. */
const defaultStage = (bundled: readonly string[], outdir?: string) => {
  const app = new App({
    context: { ...readContext(join(import.meta.dirname, '..')), [BUNDLING_STACKS]: bundled },
    analyticsReporting: false,
    ...(outdir !== undefined && { outdir }),
  });
  const stage = new SpendGatewayStage(app, parseStageSettings('dev', {}));
  const handlers = stage.node.findAll().filter((construct) => construct instanceof HandlerFunction);
  const functions = handlers.map((handler) => ({
    handler,
    /** `gateway/Proxy/Function`: stack and construct. */
    name: handler.node.path.slice(stage.node.path.length + 1),
  }));
  return { app, stage, functions };
};

/** Every function there is; nothing is bundled for it. */
export const stageFunctions = () => {
  const { app, functions } = defaultStage([]);
  rmSync(app.outdir, { recursive: true });
  return functions.map(({ name, handler: { entry } }) => ({ name, entry }));
};

/**
 * Bundles the functions of a stage exactly as a deployment would.
 *
 * @param outdir takes the cloud assembly
 * @param stackName of this stack alone, such as `gateway`; of all where left out
 */
export const bundleFunctions = (outdir: string, stackName?: string) => {
  // Not the web dashboard's pages, which nobody asks for here.
  const { app, stage, functions } = defaultStage([`ai-spend-dev/${stackName ?? '!(web)'}`], outdir);
  // The stage alone: the app would validate its templates as well, which `npm run synth` is for.
  const assembly = stage.synth();
  return functions
    .filter(({ name }) => stackName === undefined || name.startsWith(`${stackName}/`))
    .map(({ handler, name }) => {
      const stack = Stack.of(handler);
      const { Resources } = z
        .object({ Resources: z.record(z.string(), z.unknown()) })
        .parse(assembly.getStackArtifact(stack.artifactId).template);
      const id = stack.getLogicalId(handler.node.defaultChild as CfnFunction);
      const { Code, MemorySize, Environment } = resourceSchema.parse(Resources[id]).Properties;
      const variables = Object.entries(Environment?.Variables ?? {});
      return {
        name,
        entry: handler.entry,
        /** The module that exports `handler`. */
        file: join(app.outdir, `asset.${Code.S3Key.replace(/\.zip$/, '')}`, BUNDLE_FILE),
        memoryMb: MemorySize,
        /** Undefined where a value refers to a resource. */
        environment: Object.fromEntries(
          variables.map(([name, value]) => [name, typeof value === 'string' ? value : undefined]),
        ),
      };
    });
};
