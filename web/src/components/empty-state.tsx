import { Box, Stack, Text } from '@mantine/core';
import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

interface EmptyStateProps {
  readonly icon: LucideIcon;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

/** Shown in place of an empty view: why it is empty, and what to do. */
export const EmptyState = ({ icon: Icon, title, children, action }: EmptyStateProps) => (
  <Stack align="center" gap={8} px={24} py={56} ta="center">
    <Box className="disc" w={48} h={48} mb={4}>
      <Icon size={22} strokeWidth={1.7} aria-hidden />
    </Box>
    <Text component="h2" m={0} fw={620}>
      {title}
    </Text>
    {children && (
      <Text component="p" m={0} mb={8} maw="46ch" c="dimmed" size="sm">
        {children}
      </Text>
    )}
    {action}
  </Stack>
);
