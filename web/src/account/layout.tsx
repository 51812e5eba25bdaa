import { Box, Group, Stack, Text } from '@mantine/core';
import { Outlet } from '@tanstack/react-router';
import { Mark } from '../components/page.tsx';

/** The frame of the sign-up, sign-in and password pages: one form in the middle. */
export const AccountLayout = () => (
  <Stack component="main" align="center" gap={24} mih="100dvh" px={16} pt="max(6dvh, 24px)" pb={32}>
    <Group gap={12} fz={18} fw={650}>
      <Mark size={36} />
      <span>AI Spend Gateway</span>
    </Group>
    <Box className="card" w="100%" maw={420} p={28}>
      <Outlet />
    </Box>
    <Text c="dimmed" fz={13} maw={420} ta="center">
      Point an SDK at the gateway, add one header, and know what every request costs. Prompts, responses and provider
      keys are never stored.
    </Text>
  </Stack>
);
