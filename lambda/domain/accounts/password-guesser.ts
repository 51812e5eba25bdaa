import { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { adjacencyGraphs, dictionary } from '@zxcvbn-ts/language-common';

/** Guesses passwords by common ones and rows of keys. Half a megabyte, in a file of its own where it is bundled: `#password-guesser`. */
export const passwordGuesser = new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
